int main()
{
    int *p;
    cudaMalloc(&p, 4);
    return *p;
}
